import { arg, checkArgument } from '#base';

/**
 * The number of tokens that a text takes at most, as an estimate for any usual tokenizer: a word of
 * letters takes one token for each three letters, and every other visible ASCII character and every
 * line break one. Text beyond ASCII takes its bytes in UTF-8, which no byte-level tokenizer
 * exceeds. A real tokenizer usually finds fewer; pass `countTokens` to use one.
 *
 * @throws ArgumentError `bad_argument`
 */
export function estimateTokens(text: string): number {
  checkArgument(arg.text, text, 'text');
  let tokens = 0;
  for (const [piece] of text.matchAll(/[A-Za-z]+|\P{ASCII}+|[^A-Za-z ]| {2,}/gu)) {
    if (/^[A-Za-z]/.test(piece)) tokens += Math.ceil(piece.length / 3);
    else if (/^\P{ASCII}/u.test(piece)) tokens += Buffer.byteLength(piece);
    else tokens += piece.length;
  }
  return tokens;
}
