import { visible, visibleWords } from 'assize/internal/views';
import pc from 'picocolors';

/**
 * Text that is safe to print. Only this file makes it, from literals and from values made visible.
 */
export class Printable {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Value = Printable | string | number | boolean;

/** `line\`… ${anything} …\``: values are made visible, and printable text is unchanged. */
export function line(parts: TemplateStringsArray, ...values: readonly Value[]): Printable {
  return new Printable(
    parts
      .map((part, i) => part + (i < values.length ? printable(values[i] as Value).text : ''))
      .join(''),
  );
}

export function printable(value: Value): Printable {
  return value instanceof Printable ? value : new Printable(visible(String(value)));
}

/** Words by `shownOf`, with the isolates around text that is read from right to left. */
export function shownWords(text: string): Printable {
  return new Printable(visibleWords(text));
}

const colours = pc.createColors(process.stdout.isTTY === true && !process.env['NO_COLOR']);

export const bold = painter(colours.bold);
export const dim = painter(colours.dim);
export const red = painter(colours.red);
export const green = painter(colours.green);
export const yellow = painter(colours.yellow);

function painter(paint: (text: string) => string): (value: Value) => Printable {
  return (value) => new Printable(paint(printable(value).text));
}
