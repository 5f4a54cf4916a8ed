import type { DriverSettings, DriverSetup } from 'assize/conformance';

type Hook = NonNullable<DriverSettings['hook']>;

const FAULTY: Readonly<Record<Hook, () => Promise<unknown>>> = {
  silent: () => new Promise<never>(() => undefined),
  word: async () => 'perhaps',
  object: async () => ({}),
};

/** The function that takes part in a decision: the faulty one that the settings ask for, or the sound one. */
export function hookOr<T>({ settings: { hook } }: DriverSetup, sound: T): T {
  return hook === undefined ? sound : (FAULTY[hook] as T);
}
