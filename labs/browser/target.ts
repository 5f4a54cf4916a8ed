import { DidNothing } from 'assize/internal/effects';
import { z } from 'zod';
import type { BrowserLocator, BrowserPage } from './port.ts';
import { within } from './within.ts';

const TEXT_MAX = 1_000;
const text = z.string().min(1).max(TEXT_MAX);

/** Roles of elements that can be filled in or pressed (WAI-ARIA). */
const ROLES = [
  ...[
    'button',
    'checkbox',
    'combobox',
    'link',
    'listbox',
    'menuitem',
    'option',
    'radio',
    'searchbox',
  ],
  ...['slider', 'spinbutton', 'switch', 'tab', 'textbox'],
] as const;

/** One element of a page. Its texts are matched literally, and never run. */
export const target = z.union([
  z.strictObject({ css: text.refine((css) => !css.includes('>>'), 'a CSS selector without >>') }),
  z.strictObject({ label: text }),
  z.strictObject({ role: z.enum(ROLES), name: text }),
]);

export type Target = z.infer<typeof target>;

const value = z.string().max(64 * TEXT_MAX);

/** One field of a form, with its value. */
export const field = z.union([
  z.strictObject({ field: target, value }),
  z.strictObject({ field: target, option: value }),
  z.strictObject({ field: target, checked: z.boolean() }),
]);

export type Field = z.infer<typeof field>;

export function located(page: BrowserPage, at: Target): BrowserLocator {
  if ('css' in at) return page.locator(`css=${at.css}`);
  if ('label' in at) return page.getByLabel(at.label, { exact: true });
  return page.getByRole(at.role as never, { name: at.name, exact: true });
}

/**
 * The one element that the target names.
 * @throws DidNothing if no element or several elements match
 */
export async function only(
  page: BrowserPage,
  at: Target,
  timeout: number,
): Promise<BrowserLocator> {
  const found = located(page, at);
  const count = await within(timeout, found.count());
  if (count !== 1)
    throw new DidNothing(`the page has ${count === 0 ? 'no' : count} ${named(at)}`, {
      final: true,
    });
  return found;
}

/**
 * Fills a field with its value.
 * @throws DidNothing
 */
export async function fill(page: BrowserPage, given: Field, timeout: number): Promise<void> {
  const element = await only(page, given.field, timeout);
  try {
    if ('value' in given) await element.fill(given.value, { timeout });
    else if ('option' in given) await element.selectOption(given.option, { timeout });
    else await element.setChecked(given.checked, { timeout });
  } catch (cause) {
    throw new DidNothing(`${named(given.field)} could not be filled`, { final: true, cause });
  }
}

export function named(at: Target): string {
  return JSON.stringify(at);
}
