import { useHotkeys } from '@mantine/hooks';
import { type RefObject, useRef } from 'react';

/**
 * The keys j and k move the focus along the elements with `data-row` of a part of the page. Escape
 * leaves them.
 */
export function useRowKeys<E extends HTMLElement>(): RefObject<E | null> {
  const part = useRef<E>(null);
  const move = (by: number): void => {
    const rows = [...(part.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const next = at === -1 ? (by > 0 ? 0 : rows.length - 1) : at + by;
    rows[Math.min(Math.max(next, 0), rows.length - 1)]?.focus();
  };
  useHotkeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
    [
      'Escape',
      () => document.activeElement instanceof HTMLElement && document.activeElement.blur(),
    ],
  ]);
  return part;
}
