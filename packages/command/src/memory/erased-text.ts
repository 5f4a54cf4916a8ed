/** Whether a text is the marker that replaces an erased text. */
export function isErasedText(text: string): boolean {
  return /^\{"\$erased":"[0-9a-f]{64}"\}$/.test(text);
}
