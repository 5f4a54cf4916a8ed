import type { CanonError } from '#canon';

/** How the message of each fault of a JSON value or text begins. */
const MESSAGES: Readonly<Record<string, RegExp>> = {
  not_finite: /^JSON has no NaN|^The number is larger than any double/,
  unsafe_integer: /^The integer is beyond 2\^53-1/,
  bigint: /^JSON has no bigint/,
  undefined: /^JSON has no undefined/,
  function: /^A function cannot/,
  symbol: /^A symbol cannot/,
  symbol_key: /^A field with a symbol/,
  accessor: /^The field is an accessor/,
  hidden_property: /^The field is not enumerable/,
  to_json: /^The object has a toJSON/,
  lone_surrogate: /^(The (string|name)|A text) (has|with) a lone surrogate/,
  class_instance: /^Only plain objects and arrays/,
  sparse_array: /^The array has a hole/,
  array_property: /^The array has a named field/,
  proxy: /^A Proxy can return a different value/,
  cycle: /^The value contains itself/,
  too_deep: /is nested more than/,
  too_many_nodes: /has more than \d+ (nodes|values)/,
  unreadable: /^The value threw an error/,
  unstable: /^The value changed while/,
  duplicate_key: /^The object has this name twice|^Two names of an object/,
  byte_order_mark: /^The text starts with a byte order mark/,
  invalid_utf8: /^The bytes are not UTF-8/,
  bad_limits: /^The limit /,
  bad_pointer: /^The JSON pointer is not valid/,
};

/** The fault that the message states, or else the code, such as `syntax`. */
export function canonFault({ code, message }: Pick<CanonError, 'code' | 'message'>): string {
  const said = message.replace(/^The body is not accepted[^:]*: /, '');
  return Object.keys(MESSAGES).find((fault) => MESSAGES[fault]!.test(said)) ?? code;
}
