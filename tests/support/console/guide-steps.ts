import type { Locator, Page } from 'playwright-core';

/** One thing that a guide tells its reader to do, or to see. */
export type GuideStep =
  | {
      readonly does: 'open' | 'return' | 'choose' | 'tick' | 'see' | 'unzip' | 'give';
      readonly what: string;
    }
  | { readonly does: 'pick'; readonly what: string; readonly option: string }
  | { readonly does: 'write'; readonly what: string; readonly text: string };

const STEP = new RegExp(
  [
    'Open the link of `(?<open>[^`]+)`',
    'window of `(?<back>[^`]+)`',
    'Choose the (?:row|version) with \\*\\*(?<row>[^*]+)\\*\\* and \\*\\*(?<of>[^*]+)\\*\\*',
    'open `(?<unzip>[^`]+)`',
    'give it `(?<give>[^`]+)`',
    '[Cc]hoose `(?<option>[^`]+)` in \\*\\*(?<list>[^*]+)\\*\\*',
    '(?:[Cc]hoose|then) \\*\\*(?<choose>[^*]+)\\*\\*',
    'tick \\*\\*(?<tick>[^*]+)\\*\\*',
    '[Ww]rite `(?<text>[^`]+)` in \\*\\*(?<field>[^*]+)\\*\\*',
    '\\*\\*(?<see>[^*]+)\\*\\*',
  ].join('|'),
  'g',
);

/** The steps of the numbered lines of a guide, in their order. Bold words are labels of pages. */
export function stepsOf(guide: string): GuideStep[] {
  const lines = guide.split('\n').filter((line) => /^\d+\. /.test(line));
  return lines.flatMap((line) => [...line.matchAll(STEP)].map(({ groups = {} }) => stepOf(groups)));
}

function stepOf(groups: Readonly<Record<string, string | undefined>>): GuideStep {
  const {
    open,
    back,
    row,
    of,
    unzip,
    give,
    option,
    list = '',
    choose,
    tick,
    text,
    field = '',
    see = '',
  } = groups;
  if (open !== undefined) return { does: 'open', what: open };
  if (back !== undefined) return { does: 'return', what: back };
  if (row !== undefined) return { does: 'choose', what: `${row} ${of}` };
  if (unzip !== undefined) return { does: 'unzip', what: unzip };
  if (give !== undefined) return { does: 'give', what: give };
  if (option !== undefined) return { does: 'pick', what: list, option };
  if (choose !== undefined) return { does: 'choose', what: choose };
  if (tick !== undefined) return { does: 'tick', what: tick };
  return text === undefined ? { does: 'see', what: see } : { does: 'write', what: field, text };
}

/** Does a step on the page that a reader sees, or in its open dialog. */
export async function follow(page: Page, step: GuideStep): Promise<void> {
  const dialog = page.getByRole('dialog');
  const seen = (await dialog.isVisible()) ? dialog : page;
  if (step.does === 'choose') {
    await namedIn(seen, step.what).click();
    // Three dots promise a dialog.
    if (step.what.endsWith('…')) await dialog.waitFor();
  } else if (step.does === 'tick') await seen.getByLabel(step.what, { exact: true }).check();
  else if (step.does === 'write') {
    const field = page.locator('input:not([type="radio"]), textarea');
    await seen.getByLabel(step.what, { exact: true }).and(field).fill(step.text);
  } else if (step.does === 'pick') {
    await seen.getByRole('combobox', { name: step.what }).click();
    await page.getByRole('option', { name: new RegExp(`^${escaped(step.option)}\\b`) }).click();
  } else
    await page
      .getByText(new RegExp(escaped(step.what), 'u'))
      .first()
      .waitFor();
}

/** The control with a name, or the first one in whose text all words of the name are. */
function namedIn(page: Page | Locator, name: string): Locator {
  const words = name.split(' ').map((word) => `(?=.*${escaped(word)})`);
  const pattern = new RegExp(`^${words.join('')}`, 'su');
  const roles = ['button', 'link', 'tab'] as const;
  // The label of a radio button is what a person sees and chooses.
  const found = [
    ...roles.map((role) => page.getByRole(role, { name: pattern })),
    page.locator('input[type="radio"] + label', { hasText: pattern }),
    page.locator('summary', { hasText: pattern }),
  ];
  return found.reduce((all, one) => all.or(one)).first();
}

/** A text as a part of a regular expression. */
export function escaped(text: string): string {
  return text.replace(/[/\\^$.*+?()[\]{}|]/g, '\\$&');
}
