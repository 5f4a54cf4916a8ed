/** All but what may stand as it is: what JSON must escape (RFC 8259 section 7), and surrogates, which must be in pairs. */
const UNEASY = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/**
 * The string in quotes as RFC 8785 section 3.2.2.2 wants it, or undefined when it has a lone surrogate. The check comes
 * before the quoting: `JSON.stringify` turns a lone surrogate into six innocent characters.
 */
export function quote(text: string): string | undefined {
  if (!UNEASY.test(text)) return '"' + text + '"';
  return text.isWellFormed() ? JSON.stringify(text) : undefined;
}
