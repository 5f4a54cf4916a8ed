/** Waits until all have come here as often as who calls it. */
export type Barrier = () => Promise<void>;

/**
 * So many at work at once, which can wait for each other; with what each made, in their order. Where one fails, all that wait or will wait
 * for him fail.
 * @throws what the first of them threw
 */
export async function runTogether<Made>(
  count: number,
  work: (who: number, meet: Barrier) => Promise<Made>,
): Promise<readonly Made[]> {
  const rounds: { readonly met: PromiseWithResolvers<void>; missing: number }[] = [];
  const failed = Promise.withResolvers<never>();
  // Where nobody waits just then, it is told in the end.
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
