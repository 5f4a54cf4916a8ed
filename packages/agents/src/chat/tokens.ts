import { arg, checkArgument } from 'assize/internal/base';

/**
 * About the number of tokens of a text: a word of letters takes one token for each three letters,
 * and so does its leading space; every other ASCII character takes one. Text beyond ASCII takes its
 * bytes in UTF-8. Prose takes fewer tokens in a usual tokenizer, and letters without sense more.
 * Where a budget must hold, pass `countTokens`: the tokenizer of the model, or the bytes of the
 * text in UTF-8: no byte-level tokenizer exceeds these.
 *
 * @throws ArgumentError `bad_argument`
 */
export function estimateTokens(text: string): number {
  checkArgument(arg.text, text, 'text');
  let tokens = 0;
  for (const [piece] of text.matchAll(/ ?[A-Za-z]+|\P{ASCII}+|[^A-Za-z]/gu)) {
    if (/[A-Za-z]/.test(piece)) tokens += Math.ceil(piece.trimStart().length / 3);
    else tokens += Buffer.byteLength(piece);
  }
  return tokens;
}
