import { element } from './element.ts';

/** Characters that a reader would not see, or that move or turn text. */
const UNSEEN = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/u;

/** Text of a bundle: never markup, and characters that are not visible are shown as their codes. */
export function inert(text: string): HTMLElement {
  const pieces = text.split(UNSEEN);
  return element(
    'bdi',
    { class: 'wraps' },
    ...pieces.map((piece, n) =>
      n % 2 === 1
        ? element(
            'span',
            { class: 'unseen', title: 'a character that is not visible' },
            escaped(piece),
          )
        : piece,
    ),
  );
}

/** A JSON value as indented text, in which each invisible character is an escape. */
export function json(value: unknown, label: string): HTMLElement {
  const text = JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.replace(new RegExp(UNSEEN, 'gu'), escaped))
    .join('\n');
  // A long text scrolls, also by the keyboard.
  return element('pre', { class: 'json', tabindex: '0', role: 'group', 'aria-label': label }, text);
}

/** A hash, an id or a key. It breaks at any place. */
export function code(text: string): HTMLElement {
  return element('code', { class: 'wraps' }, inert(text));
}

function escaped(char: string): string {
  const point = char.codePointAt(0) as number;
  return point > 0xffff
    ? `\\u{${point.toString(16)}}`
    : `\\u${point.toString(16).padStart(4, '0')}`;
}
