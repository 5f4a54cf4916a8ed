/** Waits until every participant has called this the same number of times. */
export type Barrier = () => Promise<void>;

/**
 * Runs `count` concurrent participants that can wait for each other. Returns their results in
 * order. If one participant fails, all current and later waits fail.
 * @throws the error of the first participant that failed
 */
export async function runTogether<Made>(
  count: number,
  work: (who: number, meet: Barrier) => Promise<Made>,
): Promise<readonly Made[]> {
  const rounds: { readonly met: PromiseWithResolvers<void>; missing: number }[] = [];
  const failed = Promise.withResolvers<never>();
  // If no participant waits at that time, the error is reported at the end.
  failed.promise.catch(() => undefined);
  const member = async (who: number): Promise<Made> => {
    let nth = 0;
    const meet = async (): Promise<void> => {
      rounds[nth] ??= { met: Promise.withResolvers<void>(), missing: count };
      const here = rounds[nth++]!;
      here.missing -= 1;
      if (here.missing === 0) here.met.resolve();
      await Promise.race([here.met.promise, failed.promise]);
    };
    try {
      return await work(who, meet);
    } catch (error) {
      failed.reject(error);
      throw error;
    }
  };
  // All have to have ended before what they work with is used by others.
  const ends = await Promise.allSettled(Array.from({ length: count }, (_, who) => member(who)));
  const made = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  return made.length === count ? made : failed.promise;
}
