/** Lets the page draw, if it has not for a while. */
export type Pause = () => Promise<void> | undefined;

const BUSY_MS = 30;

/** Pauses a long computation about thirty times a second. */
export function pausing(): Pause {
  let since = performance.now();
  return () => {
    if (performance.now() - since < BUSY_MS) return undefined;
    return new Promise((resolve) =>
      setTimeout(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}
