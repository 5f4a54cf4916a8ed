import type { DriverSettings, DriverSetup } from '@assize/testing/conformance';

type Hook = NonNullable<DriverSettings['hook']>;

const FAULTY: Readonly<Record<Hook, () => Promise<unknown>>> = {
  silent: () => new Promise<never>(() => undefined),
  word: async () => 'perhaps',
  object: async () => ({}),
};

/** The function that takes part in a decision: a faulty one if the settings say so. */
export function hookOr<T>({ settings: { hook } }: DriverSetup, sound: T): T {
  return hook === undefined ? sound : (FAULTY[hook] as T);
}
