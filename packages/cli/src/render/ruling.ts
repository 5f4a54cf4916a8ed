import { green, type Printable, printable, red, yellow } from '@assize/command';
import type { Summary } from 'assize/internal/views';

const PAINT: { readonly [ruling in Summary['ruling'] | 'frozen']?: typeof green } = {
  committed: green,
  ...{ rejected: red, unreadable: red },
  ...{ escalated: yellow, delegated: yellow, frozen: yellow },
};

/** The word of a ruling in its color. `text`: the word, padded. */
export function paintedRuling(
  ruling: Summary['ruling'] | 'frozen',
  text: string = ruling,
): Printable {
  return (PAINT[ruling] ?? printable)(text);
}
