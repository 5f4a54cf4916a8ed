import { existsSync } from 'node:fs';
import { arg, checkArgument } from 'assize/internal/base';
import { EffectError } from 'assize/internal/effects';
import { Origins } from './origins.ts';
import type { BrowserContext } from './port.ts';

export interface LaunchOptions {
  /** Path of the browser's executable. Default: `chromiumPath()`. */
  readonly executablePath?: string;
  /**
   * The browser itself may connect only to the hosts of these origins, as the tools' `allow`.
   * Default: any origin. The tools send the requests of a page and refuse other origins. This
   * option also covers requests that the browser sends on its own, such as prefetches.
   */
  readonly allow?: readonly string[];
}

/** A launched browser with one context. */
export interface Launched extends AsyncDisposable {
  readonly context: BrowserContext;
  /** Closes the browser. A second call does nothing. */
  close(): Promise<void>;
}

const OPTIONS = arg.members({
  executablePath: arg.optional(arg.text),
  allow: arg.optional(arg.list(arg.text)),
});

/** The usual paths of operating systems, Debian first. */
const USUAL = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * Starts a Chromium without a window, by the optional peer `playwright-core`. The browser accepts
 * no downloads, runs no service workers, and starts without cookies. Pages connect to other
 * browsers only through a proxy.
 *
 * @throws EffectError `invalid_tool` if the package or the browser is missing; ArgumentError
 * `bad_argument`
 */
export async function launchBrowser(options: LaunchOptions = {}): Promise<Launched> {
  checkArgument(OPTIONS, options, 'options');
  const { executablePath = chromiumPath(), allow } = options;
  const args = [NO_PEERS, ...(allow === undefined ? [] : [onlyTo(allow)])];
  if (executablePath === undefined)
    throw cannot(
      `there is no Chromium at ${USUAL.join(', ')}. Install Chromium, or set executablePath`,
    );
  const { chromium } = await loadPeer();
  const browser = await chromium
    .launch({ executablePath, headless: true, args })
    .catch((cause: Error) => {
      throw cannot(
        `${executablePath} could not be started: ${cause.message.split('\n', 1)[0]}`,
        cause,
      );
    });
  const context = await browser.newContext({ acceptDownloads: false, serviceWorkers: 'block' });
  const close = () => browser.close();
  return { context, close, [Symbol.asyncDispose]: close };
}

const NO_PEERS = '--webrtc-ip-handling-policy=disable_non_proxied_udp';

/** Every other host gets no address. */
function onlyTo(allow: readonly string[]): string {
  const hosts = new Origins('launchBrowser', allow).all.map((origin) => new URL(origin).hostname);
  return ['--host-resolver-rules=MAP * ~NOTFOUND', ...hosts.map((host) => `EXCLUDE ${host}`)].join(
    ', ',
  );
}

/** The first usual path at which a Chromium exists. Undefined if no path has one. */
export function chromiumPath(): string | undefined {
  return USUAL.find((path) => existsSync(path));
}

async function loadPeer() {
  try {
    return await import('playwright-core');
  } catch (cause) {
    throw cannot(
      'the package playwright-core is not installed. Run npm install playwright-core',
      cause,
    );
  }
}

function cannot(what: string, cause?: unknown): EffectError {
  return new EffectError('invalid_tool', `The browser cannot be used: ${what}.`, { cause });
}
