/**
 * A browser as tools, by the optional peer `playwright-core` and a Chromium.
 * Guarantees: requests go only to allowed origins, including redirections and requests of frames,
 * scripts and images. The answer of one origin is not served as the answer of another origin. A
 * page that is read or filled in sends only GET and HEAD. A button is pressed once, and requests
 * after the press are counted. An effect counts as not done only if no request was sent or the page
 * reports a refusal. Text from a model is searched for or typed literally, and never run. Every
 * opened page is closed. A page that does not respond is awaited no longer than the time limit of
 * each step.
 * Never: knows the effect of a submitted form (the declaration states it). Never downloads,
 * uploads, opens a second window or opens a socket. Never limits the memory of a page, and never
 * keeps a page between two calls. Cookies belong to the context and stay in it. The effects of a
 * GET on a site are not prevented.
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
