import { CliError, loadDomains } from '@assize/command';
import type { Benchmark } from '../../../examples/domains/tau/index.ts';

/** By the name of the domain; loaded when asked for, because schemas take time to build. */
const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark<any>>>> = {
  airline: async () =>
    (await import('../../../examples/domains/airline/adjudicate.ts')).airlineBenchmark,
  retail: async () =>
    (await import('../../../examples/domains/retail/adjudicate.ts')).retailBenchmark,
};

export function loadBenchmarks(): Promise<Benchmark<any>[]> {
  return Promise.all(Object.values(BENCHMARKS).map((load) => load()));
}

/** The benchmark with the database of a shipped domain. @throws CliError `not_found` */
export async function benchmarkNamed(name: string): Promise<Benchmark<any>> {
  const load = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
  if (load !== undefined) return load();
  const known = (await loadDomains()).some((domain) => domain.name === name);
  const taken = [...Object.keys(BENCHMARKS), 'disclosure'].join(', ');
  throw new CliError(
    'not_found',
    known
      ? `The domain ${name} has no recorded runs. Choose one of ${taken}.`
      : `The domain ${name} does not exist. Choose one of ${taken}.`,
  );
}
