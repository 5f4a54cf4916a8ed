import { type HotkeyItem, useHotkeys } from '@mantine/hooks';

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
  useHotkeys([['j', () => move(1)], ['k', () => move(-1)], ['Escape', () => open(undefined)], ...more]);
}
