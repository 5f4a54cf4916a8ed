import type { Json } from 'assize/internal/base';
import type { BrowserPage } from './port.ts';
import { located, type Target } from './target.ts';
import { within } from './within.ts';

/** A page as a reader sees it: the request, the answer and the elements. */
export interface PageSeen {
  readonly url: string;
  readonly status: number;
  title(): Promise<string>;
  /** The texts of the elements, in order. Empty if no element matches. */
  texts(at: Target): Promise<string[]>;
  /** The values of the fields, in order. */
  values(at: Target): Promise<string[]>;
}

/** Maximum number of elements in one outline. */
export const SEEN_MAX = 200;

/** The time limit applies to each query of the page. */
export function seenOn(page: BrowserPage, status: number, timeout: number): PageSeen {
  const asked = <T>(made: Promise<T>): Promise<T> => within(timeout, made);
  return {
    url: page.url(),
    status,
    title: () => asked(page.title()),
    texts: async (at) => (await asked(located(page, at).allInnerTexts())).slice(0, SEEN_MAX),
    values: async (at) => (await asked(located(page, at).evaluateAll(valuesOf))).slice(0, SEEN_MAX),
  };
}

/** Runs in the page. */
function valuesOf(elements: any[]): string[] {
  return elements.map((one) =>
    one.type === 'checkbox' || one.type === 'radio' ? `${one.checked}` : `${one.value}`,
  );
}

/** An outline of the page as data: its text, links, fields and buttons. Runs in the page. */
function outlineOf([body]: any[]): {
  readonly text: string;
  readonly links: { readonly text: string; readonly url: string }[];
  readonly fields: {
    readonly label: string;
    readonly name: string;
    readonly type: string;
    readonly value: string;
  }[];
  readonly buttons: string[];
} {
  const most = 200;
  const all = (css: string): any[] => [...body.querySelectorAll(css)].slice(0, most);
  const textOf = (one: any): string => (one.innerText ?? one.textContent ?? '').trim();
  // In an SVG the href is an animated object and not a string.
  const urlOf = ({ href, baseURI }: any): string =>
    typeof href === 'string' ? href : (URL.parse(href.baseVal, baseURI)?.href ?? href.baseVal);
  return {
    text: textOf(body),
    links: all('a[href]').map((one) => ({ text: textOf(one), url: urlOf(one) })),
    fields: all(
      'input:not([type=hidden]):not([type=submit]):not([type=button]), textarea, select',
    ).map((one) => ({
      label: textOf(one.labels?.[0] ?? {}),
      name: one.name,
      type: one.type,
      // Password values are masked here as they are on the screen.
      value:
        one.type === 'password'
          ? ''
          : one.type === 'checkbox' || one.type === 'radio'
            ? `${one.checked}`
            : one.value,
    })),
    buttons: all('button, input[type=submit], input[type=button]').map(
      (one) => textOf(one) || one.value,
    ),
  };
}

/** An outline of the page with limited text, within the time limit. */
export async function outlined(
  page: BrowserPage,
  status: number,
  most: { readonly textMax: number; readonly timeoutMs: number },
): Promise<Json> {
  const { textMax, timeoutMs } = most;
  const { text, ...rest } = await within(
    timeoutMs,
    page.locator('css=body').evaluateAll(outlineOf),
  );
  const isCut = text.length > textMax;
  const title = await within(timeoutMs, page.title());
  return { url: page.url(), status, title, text: text.slice(0, textMax), isCut, ...rest };
}
