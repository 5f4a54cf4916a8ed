/**
 * A browser as tools, by the optional peer `playwright-core` and a Chromium.
 *
 * Guarantees: requests go to the origins that were allowed and to no other, also where a page leads on or a frame, a script or an
 * image asks, and what one origin answers is not handed over as another's; a page that is looked at, or filled in, sends nothing but GET
 * and HEAD; a button is pressed once, after which what gets out is counted, so that a deed is called undone only where nothing got out or
 * the page says so; what a model says is looked for or typed in as it stands, and never run; every page that was opened is closed, and
 * one that hangs is waited for no longer than the time that each step has.
 *
 * Never: knows what a page does with what it is sent, which is for its declaration to say; downloads, uploads, opens a second window or a
 * socket; limits how much of a page is held in memory; keeps a page between two calls. Cookies are the context's, and stay in it. What a
 * site does on a GET is not held back.
 */
export { type BrowserToolsOptions, browserTools } from './browser-tools.ts';
export { chromiumPath, type Launched, type LaunchOptions, launchBrowser } from './launch.ts';
export { webScope } from './origins.ts';
export type {
  BrowserContext,
  BrowserDialog,
  BrowserLocator,
  BrowserPage,
  BrowserRequest,
  BrowserResponse,
  BrowserRoute,
} from './port.ts';
export type { PageSeen } from './seen.ts';
export type { SiteOptions } from './site.ts';
export { type SubmitToolOptions, submitTool } from './submit-tool.ts';
export type { Field, Target } from './target.ts';
