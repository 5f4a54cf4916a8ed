import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/**
 * Fails if a page is wider than its window, or if it cuts a text that the pointer does not show
 * whole.
 */
export async function expectFitting(page: Page): Promise<void> {
  // A page needs some frames for a new width.
  await expect
    .poll(() => page.evaluate<Fitting>(FITTING), { message: page.url(), timeout: 3_000 })
    .toEqual({ excess: 0, cut: [] });
}

/** The pixels beyond the window, and the texts. */
interface Fitting {
  readonly excess: number;
  readonly cut: readonly string[];
}

/**
 * Runs in the page. A text is cut if an element with text of its own hides what does not fit,
 * neither scrolls nor wraps, and gets no title from a pointer above it.
 */
const FITTING = `(() => {
  const root = document.documentElement;
  const hides = (value) => value === 'hidden' || value === 'clip';
  const cut = [...document.body.querySelectorAll('*')].filter((element) => {
    const { overflowX, overflowY, textOverflow, webkitLineClamp, position } = getComputedStyle(element);
    const isClamped = webkitLineClamp !== 'none' && hides(overflowY);
    if (position === 'absolute' || (textOverflow !== 'ellipsis' && !isClamped)) return false;
    const isWide = hides(overflowX) && element.scrollWidth > element.clientWidth;
    const isHigh = isClamped && element.scrollHeight > element.clientHeight;
    if (element instanceof HTMLInputElement || element.textContent.trim() === '') return false;
    if (!isWide && !isHigh) return false;
    element.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
    return element.closest('[title]') === null;
  });
  const beyond = [...document.querySelectorAll('header *')].filter(
    (element) => element.getBoundingClientRect().right > root.clientWidth + 0.5,
  );
  return {
    excess: Math.max(0, root.scrollWidth - root.clientWidth),
    cut: [...cut, ...beyond].map((element) => element.textContent.slice(0, 80)),
  };
})()`;

/** Messages of the console of a page that are errors, from now on. */
export function errorsIn(page: Page): string[] {
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()}`);
  });
  return errors;
}
