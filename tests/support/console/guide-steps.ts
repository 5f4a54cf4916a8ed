import type { Locator, Page } from 'playwright-core';

/** One thing that a guide tells its reader to do, or to see. */
export type GuideStep =
  | { readonly does: 'open' | 'choose' | 'see'; readonly what: string }
  | { readonly does: 'write'; readonly what: string; readonly text: string };

const STEP =
  /Open the link of `(?<open>[^`]+)`|Choose \*\*(?<choose>[^*]+)\*\*|[Ww]rite `(?<text>[^`]+)` in \*\*(?<field>[^*]+)\*\*|\*\*(?<see>[^*]+)\*\*/g;

/** The steps of the numbered lines of a guide, in their order. Bold words are labels of pages. */
export function stepsOf(guide: string): GuideStep[] {
  const lines = guide.split('\n').filter((line) => /^\d+\. /.test(line));
  return lines.flatMap((line) =>
    [...line.matchAll(STEP)].map(({ groups = {} }): GuideStep => {
      const { open, choose, text, field, see = '' } = groups;
      if (open !== undefined) return { does: 'open', what: open };
      if (choose !== undefined) return { does: 'choose', what: choose };
      return text === undefined ? { does: 'see', what: see } : { does: 'write', what: field ?? '', text };
    }),
  );
}

/** Does a step as a reader does it. `links`: the sign-in links by their principals. */
export async function follow(page: Page, step: GuideStep, links: ReadonlyMap<string, string>): Promise<void> {
  if (step.does === 'open') await page.goto(links.get(step.what) as string);
  else if (step.does === 'choose') await namedIn(page, step.what).click();
  else if (step.does === 'write') await page.getByLabel(step.what, { exact: true }).fill(step.text);
  else await page.getByText(step.what).first().waitFor();
}

/** The control with a name, or the first one in whose text all words of the name are. */
function namedIn(page: Page, name: string): Locator {
  const words = name.split(' ').map((word) => `(?=.*${word.replace(/[^\p{L}\p{N}]/gu, '\\$&')})`);
  const pattern = new RegExp(`^${words.join('')}`, 'su');
  const roles = ['button', 'link', 'tab', 'radio'] as const;
  const found = roles.map((role) => page.getByRole(role, { name: pattern }));
  return found.reduce((all, one) => all.or(one)).first();
}
