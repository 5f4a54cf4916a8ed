import { type HotkeyItem, useHotkeys } from '@mantine/hooks';
import { hasSingleKeys } from './key-switch.ts';

/** An element with this attribute has keys: they act only while the focus is in it. */
export const WITH_KEYS = 'data-keys';

/**
 * Keys without a modifier. They act only while the focus is in the list of a page or in its detail,
 * so that a letter that was meant for another place changes nothing.
 */
export function useScopedKeys(keys: readonly HotkeyItem[]): void {
  useHotkeys(
    keys.map(([key, act]) => [
      key,
      (event) => {
        if (key.length === 1 && !hasSingleKeys()) return;
        if (!(event.target instanceof Element) || event.target.closest(`[${WITH_KEYS}]`) === null)
          return;
        event.preventDefault();
        act(event);
      },
      { preventDefault: false },
    ]),
  );
}

/**
 * The keys of a list: j and k open the next and the previous item, and Escape closes the open one.
 * While none is open, j opens the item `start`, or the first one.
 */
export function useListKeys(
  ids: readonly string[],
  openId: string | undefined,
  open: (id: string | undefined) => void,
  more: readonly HotkeyItem[] = [],
  start?: string,
): void {
  const move = (by: number): void => {
    const at = openId === undefined ? ids.indexOf(start ?? '') - 1 : ids.indexOf(openId);
    const next = ids[Math.min(Math.max(at + by, 0), ids.length - 1)];
    if (next !== undefined) open(next);
  };
  useScopedKeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
    ['Escape', () => open(undefined)],
    ...more,
  ]);
}
