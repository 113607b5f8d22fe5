//! The grammar of an object as a table: what each token means in each state, for `quick`.

/// What may come next, and what is open: `Top` is inside the outermost object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The outermost object.
    Start,
    /// A key of it or `}`.
    TopFirst,
    /// A key of it.
    TopKey,
    /// `:` behind a key of it.
    TopColon,
    /// A value of it.
    TopValue,
    /// `,` or `}` behind a value of it.
    TopNext,
    /// A key or `}`.
    FirstKey,
    /// A key.
    Key,
    /// `:`
    Colon,
    /// A value of an object.
    Value,
    /// `,` or `}`
    NextMember,
    /// A value of an array, or `]`.
    FirstItem,
    /// A value of an array.
    Item,
    /// `,` or `]`
    NextItem,
    /// Nothing.
    End,
}

/// How many states there are.
const STATES: usize = State::End as usize + 1;

/// What a token is, by its first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Quote,
    Colon,
    Comma,
    OpenObject,
    CloseObject,
    OpenArray,
    CloseArray,
    /// A number, `true`, `false` or `null`; or nothing of that kind.
    Word,
}

/// How many kinds of tokens there are.
const TOKENS: usize = Token::Word as usize + 1;

/// What a token asks for beyond the next state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing.
    Go,
    /// To open an object.
    OpenObject,
    /// To open an array.
    OpenArray,
    /// To close the innermost container.
    Close,
    /// To read a number or word.
    Word,
    /// To remember where a key of the outermost object begins.
    TopKey,
    /// To see which key that is.
    TopColon,
    /// To note that a value of the outermost object is a string.
    TopText,
    /// To give up: no object has this token here.
    Stop,
}

/// What each token means in each state.
pub(crate) const STEPS: [[(State, Act); TOKENS]; STATES] = steps();

const fn steps() -> [[(State, Act); TOKENS]; STATES] {
    let mut steps = [[(State::End, Act::Stop); TOKENS]; STATES];
    steps[State::Start as usize][Token::OpenObject as usize] = (State::TopFirst, Act::OpenObject);
    let tops = [State::TopFirst, State::TopKey, State::TopColon, State::TopValue, State::TopNext];
    let keys = (Act::TopKey, Act::TopColon, Act::TopText);
    object(&mut steps, tops, keys);
    let inner = [State::FirstKey, State::Key, State::Colon, State::Value, State::NextMember];
    object(&mut steps, inner, (Act::Go, Act::Go, Act::Go));
    values(&mut steps, State::FirstItem, State::NextItem, Act::Go);
    values(&mut steps, State::Item, State::NextItem, Act::Go);
    steps[State::FirstItem as usize][Token::CloseArray as usize] = (State::End, Act::Close);
    steps[State::NextItem as usize][Token::CloseArray as usize] = (State::End, Act::Close);
    steps[State::NextItem as usize][Token::Comma as usize] = (State::Item, Act::Go);
    steps
}

/// The steps inside an object; `acts` are those of a key, a colon and a string.
const fn object(
    steps: &mut [[(State, Act); TOKENS]; STATES],
    [first, key, colon, value, next]: [State; 5],
    acts: (Act, Act, Act),
) {
    steps[first as usize][Token::Quote as usize] = (colon, acts.0);
    steps[first as usize][Token::CloseObject as usize] = (State::End, Act::Close);
    steps[key as usize][Token::Quote as usize] = (colon, acts.0);
    steps[colon as usize][Token::Colon as usize] = (value, acts.1);
    values(steps, value, next, acts.2);
    steps[next as usize][Token::Comma as usize] = (key, Act::Go);
    steps[next as usize][Token::CloseObject as usize] = (State::End, Act::Close);
}

/// The steps at a value; `text` is the act of a string.
const fn values(
    steps: &mut [[(State, Act); TOKENS]; STATES],
    value: State,
    next: State,
    text: Act,
) {
    steps[value as usize][Token::Quote as usize] = (next, text);
    steps[value as usize][Token::Word as usize] = (next, Act::Word);
    steps[value as usize][Token::OpenObject as usize] = (State::FirstKey, Act::OpenObject);
    steps[value as usize][Token::OpenArray as usize] = (State::FirstItem, Act::OpenArray);
}

/// The token that each byte begins.
pub(crate) const TOKEN_OF: [Token; 256] = {
    let mut tokens = [Token::Word; 256];
    tokens[b'"' as usize] = Token::Quote;
    tokens[b':' as usize] = Token::Colon;
    tokens[b',' as usize] = Token::Comma;
    tokens[b'{' as usize] = Token::OpenObject;
    tokens[b'}' as usize] = Token::CloseObject;
    tokens[b'[' as usize] = Token::OpenArray;
    tokens[b']' as usize] = Token::CloseArray;
    tokens
};
