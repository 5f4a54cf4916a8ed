import { existsSync } from 'node:fs';
import { form, requireForm } from '#base';
import { EffectError } from '#effects';
import { Origins } from './origins.ts';
import type { BrowserContext } from './port.ts';

export interface LaunchOptions {
  /** The browser's program. By default `chromiumPath()`. */
  readonly executablePath?: string;
  /**
   * Origins whose hosts the browser itself may connect to, as the tools' `allow`. By default any. What a page asks for is sent by the
   * tools, which hold back what goes elsewhere; this holds also what a browser sends of its own accord, as for what it guesses is next.
   */
  readonly allow?: readonly string[];
}

/** A browser of one's own, with one context. */
export interface Launched extends AsyncDisposable {
  readonly context: BrowserContext;
  /** Ends the browser; once more does nothing. */
  close(): Promise<void>;
}

const OPTIONS = form.members({ executablePath: form.optional(form.text), allow: form.optional(form.list(form.text)) });

/** Where systems put it: Debian first. */
const USUAL = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * Starts a Chromium without a window, by the optional peer `playwright-core`. It accepts no downloads, runs no service workers, and
 * begins without cookies. Pages have no connections to other browsers but through a proxy.
 *
 * @throws EffectError `invalid_tool` where there is no such package, or no browser; ArgumentError `bad_argument`
 */
export async function launchBrowser(options: LaunchOptions = {}): Promise<Launched> {
  requireForm(OPTIONS, options, 'options');
  const { executablePath = chromiumPath(), allow } = options;
  const args = [NO_PEERS, ...(allow === undefined ? [] : [onlyTo(allow)])];
  if (executablePath === undefined)
    throw cannot(`there is no Chromium at ${USUAL.join(', ')}; install one, or name it in executablePath`);
  const { chromium } = await loadPeer();
  const browser = await chromium.launch({ executablePath, headless: true, args }).catch((cause: Error) => {
    throw cannot(`${executablePath} could not be started: ${cause.message.split('\n', 1)[0]}`, cause);
  });
  const context = await browser.newContext({ acceptDownloads: false, serviceWorkers: 'block' });
  const close = () => browser.close();
  return { context, close, [Symbol.asyncDispose]: close };
}

const NO_PEERS = '--webrtc-ip-handling-policy=disable_non_proxied_udp';

/** No other host has an address. */
function onlyTo(allow: readonly string[]): string {
  const hosts = new Origins('launchBrowser', allow).all.map((origin) => new URL(origin).hostname);
  return ['--host-resolver-rules=MAP * ~NOTFOUND', ...hosts.map((host) => `EXCLUDE ${host}`)].join(', ');
}

/** Where a Chromium is, of the places where one usually is; undefined where there is none. */
export function chromiumPath(): string | undefined {
  return USUAL.find((path) => existsSync(path));
}

async function loadPeer() {
  try {
    return await import('playwright-core');
  } catch (cause) {
    throw cannot(
      'it needs the package playwright-core, which is not installed; run npm install playwright-core',
      cause,
    );
  }
}

function cannot(what: string, cause?: unknown): EffectError {
  return new EffectError('invalid_tool', `A browser can't be used: ${what}.`, { cause });
}
