/** Whether a key names an element of a list. */
export function isIndex(key: string): boolean {
  const code = key.charCodeAt(0);
  if (!(code >= 48 && code <= 57)) return false;
  return code === 48 ? key.length === 1 : /^[0-9]{1,15}$/.test(key);
}
