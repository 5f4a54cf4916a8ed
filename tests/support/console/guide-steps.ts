import type { Locator, Page } from 'playwright-core';

/** One thing that a guide tells its reader to do, or to see. */
export type GuideStep =
  | { readonly does: 'open' | 'choose' | 'see' | 'unzip'; readonly what: string }
  | { readonly does: 'write'; readonly what: string; readonly text: string };

const STEP =
  /Open the link of `(?<open>[^`]+)`|Choose the row with \*\*(?<row>[^*]+)\*\* and \*\*(?<of>[^*]+)\*\*|open `(?<unzip>[^`]+)`|Choose \*\*(?<choose>[^*]+)\*\*|[Ww]rite `(?<text>[^`]+)` in \*\*(?<field>[^*]+)\*\*|\*\*(?<see>[^*]+)\*\*/g;

/** The steps of the numbered lines of a guide, in their order. Bold words are labels of pages. */
export function stepsOf(guide: string): GuideStep[] {
  const lines = guide.split('\n').filter((line) => /^\d+\. /.test(line));
  return lines.flatMap((line) =>
    [...line.matchAll(STEP)].map(({ groups = {} }): GuideStep => {
      const { open, unzip, row, of, choose, text, field, see = '' } = groups;
      if (open !== undefined) return { does: 'open', what: open };
      if (unzip !== undefined) return { does: 'unzip', what: unzip };
      if (row !== undefined) return { does: 'choose', what: `${row} ${of}` };
      if (choose !== undefined) return { does: 'choose', what: choose };
      return text === undefined ? { does: 'see', what: see } : { does: 'write', what: field ?? '', text };
    }),
  );
}

/** Does a step on the page that a reader sees. */
export async function follow(page: Page, step: GuideStep): Promise<void> {
  if (step.does === 'choose') await namedIn(page, step.what).click();
  else if (step.does === 'write') await page.getByLabel(step.what, { exact: true }).fill(step.text);
  else
    await page
      .getByText(new RegExp(escaped(step.what), 'u'))
      .first()
      .waitFor();
}

/** The control with a name, or the first one in whose text all words of the name are. */
function namedIn(page: Page, name: string): Locator {
  const words = name.split(' ').map((word) => `(?=.*${escaped(word)})`);
  const pattern = new RegExp(`^${words.join('')}`, 'su');
  const roles = ['button', 'link', 'tab', 'radio'] as const;
  const found = roles.map((role) => page.getByRole(role, { name: pattern }));
  return found.reduce((all, one) => all.or(one)).first();
}

function escaped(text: string): string {
  return text.replace(/[/\\^$.*+?()[\]{}|]/g, '\\$&');
}
