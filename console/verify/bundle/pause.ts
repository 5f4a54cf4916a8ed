/** Lets the page draw, if it has not for a while. */
export type Pause = () => Promise<void> | undefined;

const BUSY_MS = 30;

/** Pauses a long computation about thirty times a second, and calls `onPause` each time. */
export function pausing(onPause: () => void): Pause {
  let since = performance.now();
  return () => {
    if (performance.now() - since < BUSY_MS) return undefined;
    onPause();
    return new Promise((resolve) =>
      setTimeout(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}
