/** Makes a call, and hands on its results one after the other. */
type Run = (take: (result: unknown) => void) => Promise<unknown>;

/**
 * The results of a call as a stream. Its end, and its error, are those of the call. A reader that
 * stops early ends the call with an error, as its outcome is then not known.
 */
export async function* streamed(run: Run): AsyncGenerator<unknown, void> {
  const results: unknown[] = [];
  let isStopped = false;
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  const end = run((result) => {
    if (isStopped)
      throw new DOMException('The results of the tool are not read any more.', 'AbortError');
    results.push(result);
    wake.resolve();
  }).finally(() => {
    isOver = true;
    wake.resolve();
  });
  // The error of the call is thrown below, or has no reader any more.
  end.catch(() => undefined);
  try {
    for (;;) {
      while (results.length > 0) yield results.shift();
      if (isOver) break;
      await wake.promise;
      wake = Promise.withResolvers();
    }
    await end;
  } finally {
    isStopped = true;
  }
}
