/**
 * The part of `playwright-core` that these tools use to drive a page. Only these tools may use a
 * context: every page that the context opens on its own is closed.
 */
export interface BrowserContext {
  newPage(): Promise<BrowserPage>;
  /** Notifies the listener of pages, including those that pages open. */
  on(event: 'page', listener: (page: BrowserPage) => unknown): unknown;
  /** Calls the handler for every request of every page, before the request is sent. */
  route(url: string, handler: (route: BrowserRoute) => Promise<void>): Promise<unknown>;
  /** Runs a script in every page and frame, before the page's own scripts. */
  addInitScript(script: { readonly content: string }): Promise<unknown>;
  /** Calls the handler for every socket before it is opened. */
  routeWebSocket(url: string, handler: (socket: { close(): unknown }) => unknown): Promise<unknown>;
}

export interface BrowserPage {
  goto(
    url: string,
    options: { readonly timeout: number; readonly waitUntil: 'load' },
  ): Promise<{ status(): number } | null>;
  url(): string;
  title(): Promise<string>;
  locator(selector: string): BrowserLocator;
  getByLabel(text: string, options: { readonly exact: true }): BrowserLocator;
  getByRole(role: never, options: { readonly name: string; readonly exact: true }): BrowserLocator;
  waitForLoadState(state: 'load', options: { readonly timeout: number }): Promise<void>;
  on(event: 'dialog', listener: (dialog: BrowserDialog) => unknown): unknown;
  on(event: 'download', listener: (download: { cancel(): Promise<void> }) => unknown): unknown;
  /** Notifies the listener of each document of the page itself, once the document is parsed. */
  on(event: 'domcontentloaded', listener: () => unknown): unknown;
  close(options?: { readonly runBeforeUnload?: boolean }): Promise<void>;
}

export interface BrowserDialog {
  message(): string;
  accept(): Promise<void>;
  dismiss(): Promise<void>;
}

type Timeout = { readonly timeout: number };

export interface BrowserLocator {
  count(): Promise<number>;
  isVisible(): Promise<boolean>;
  first(): BrowserLocator;
  fill(value: string, options: Timeout): Promise<void>;
  setChecked(checked: boolean, options: Timeout): Promise<void>;
  selectOption(value: string, options: Timeout): Promise<unknown>;
  click(
    options: Timeout & { readonly trial?: boolean; readonly noWaitAfter?: boolean },
  ): Promise<void>;
  waitFor(options: Timeout & { readonly state: 'visible' }): Promise<void>;
  allInnerTexts(): Promise<string[]>;
  /** Runs a function of these tools on the fields, and never text from a model. */
  evaluateAll<Result>(read: (elements: any[]) => Result): Promise<Result>;
}

export interface BrowserRoute {
  request(): BrowserRequest;
  abort(code?: string): Promise<void>;
  fetch(options: {
    readonly maxRedirects: 0;
    readonly timeout: number;
    url?: string;
    method?: string;
    postData?: string;
    /** Default: the headers of the request, and the cookies of the context. */
    headers?: { [name: string]: string };
  }): Promise<BrowserResponse>;
  fulfill(options: {
    readonly response: any;
    readonly headers?: { [name: string]: string };
  }): Promise<void>;
}

export interface BrowserRequest {
  url(): string;
  method(): string;
  isNavigationRequest(): boolean;
  /** Throws if the request has no page yet. */
  frame(): { page(): BrowserPage; parentFrame(): unknown; url(): string };
  headers(): { readonly [name: string]: string };
}

export interface BrowserResponse {
  status(): number;
  headers(): { readonly [name: string]: string };
}
