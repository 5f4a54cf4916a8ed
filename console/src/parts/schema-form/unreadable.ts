/** The value of a JSON field whose text is not JSON. Such a form cannot be sent. */
export class Unreadable {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Whether all parts of a value are JSON. */
export function isReadable(value: unknown): boolean {
  if (value instanceof Unreadable) return false;
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isReadable);
}

/** The value of a JSON text, or the text if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return new Unreadable(text);
  }
}
