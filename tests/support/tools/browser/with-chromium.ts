import { afterAll, beforeAll, describe } from 'vitest';
import { chromiumPath, type Launched, launchBrowser } from '#tools/browser';

/** The program that tests are run with. */
export function chromiumHere(): string | undefined {
  return process.env['CHROMIUM_PATH'] ?? chromiumPath();
}

/**
 * Tests with a Chromium that starts before the first test and ends after the last. Without Chromium
 * they are skipped, with the reason.
 */
export function withChromium(
  title: string,
  tests: (browser: { readonly context: Launched['context'] }) => void,
): void {
  const path = chromiumHere();
  const reason =
    path === undefined ? 'no Chromium here, and none named in CHROMIUM_PATH' : undefined;
  let launched: Launched | undefined;
  describe.skipIf(reason !== undefined)(
    reason === undefined ? title : `${title} (${reason})`,
    () => {
      beforeAll(async () => {
        launched = await launchBrowser({ executablePath: path as string });
      });
      afterAll(() => launched?.close());
      tests({
        get context() {
          if (launched === undefined) throw new Error('no browser was started here');
          return launched.context;
        },
      });
    },
  );
}
