/**
 * What is used of a browser: the part of `playwright-core` that a page is driven by. A context is used by nothing else: whatever it
 * opens by itself is closed.
 */
export interface BrowserContext {
  newPage(): Promise<BrowserPage>;
  /** Hears of pages, also of those that pages open. */
  on(event: 'page', listener: (page: BrowserPage) => unknown): unknown;
  /** Hears of every request of every page, before it is sent. */
  route(url: string, handler: (route: BrowserRoute) => Promise<void>): Promise<unknown>;
  /** Run in every page and frame, before anything of theirs. */
  addInitScript(script: { readonly content: string }): Promise<unknown>;
  /** Hears of every socket before it is opened. */
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
  /** Hears of each document of the page itself, once it is read. */
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
  click(options: Timeout & { readonly trial?: boolean; readonly noWaitAfter?: boolean }): Promise<void>;
  waitFor(options: Timeout & { readonly state: 'visible' }): Promise<void>;
  allInnerTexts(): Promise<string[]>;
  /** Of fields: with a function of ours, never with what a model has said. */
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
    /** Without them those of the request, and the cookies of the context. */
    headers?: { [name: string]: string };
  }): Promise<BrowserResponse>;
  fulfill(options: { readonly response: any; readonly headers?: { [name: string]: string } }): Promise<void>;
}

export interface BrowserRequest {
  url(): string;
  method(): string;
  isNavigationRequest(): boolean;
  /** Throws where there is no page yet. */
  frame(): { page(): BrowserPage; parentFrame(): unknown; url(): string };
  headers(): { readonly [name: string]: string };
}

export interface BrowserResponse {
  status(): number;
  headers(): { readonly [name: string]: string };
}
