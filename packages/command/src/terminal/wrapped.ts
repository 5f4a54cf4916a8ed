import { stripVTControlCharacters } from 'node:util';

/** Default width of a line. */
const WIDTH = 80;

/** The terminal's line width. Some terminals report 0. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return (stream.isTTY && stream.columns) || WIDTH;
}

/** The width as a terminal shows it. */
export function lengthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** Wraps between words. A word longer than a line stays whole. */
export function wrapped(text: string, width: number): string[] {
  return packed(text.split(' '), width)
    .map((one) => one.trimEnd())
    .filter((one) => one !== '');
}

/** Puts as many whole parts on a line as fit. */
export function packed(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && lengthOf(last) + 1 + lengthOf(part) <= width)
      lines.splice(-1, 1, `${last} ${part}`);
    else lines.push(part);
  }
  return lines;
}
