import { stripVTControlCharacters } from 'node:util';

/** Where nobody says how wide a line may be. */
const WIDTH = 80;

/** How wide a line may be there: some terminals don't know it, and say 0. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return (stream.isTTY && stream.columns) || WIDTH;
}

/** As a terminal shows it. */
export function lengthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** Broken between words; a word that is longer than a line is left whole. */
export function wrapped(text: string, width: number): string[] {
  return packed(text.split(' '), width)
    .map((one) => one.trimEnd())
    .filter((one) => one !== '');
}

/** As many parts on a line as it holds, each of them whole. */
export function packed(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && lengthOf(last) + 1 + lengthOf(part) <= width) lines.splice(-1, 1, `${last} ${part}`);
    else lines.push(part);
  }
  return lines;
}
