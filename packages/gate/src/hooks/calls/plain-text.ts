/** Signs that belong to a picture: the joined pictures, and the form of a picture. */
const PICTURES =
  /(?<=\p{Extended_Pictographic}[\u{1F3FB}-\u{1F3FF}]?)(?:\uFE0F\u200D?|\u200D)(?!\uFE0F)/gu;

const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

/** Whether a text shows all that it contains: no control, invisible or bidirectional characters. */
export function isPlainText(text: string): boolean {
  return !HIDDEN.test(text.replace(PICTURES, ''));
}
