import { afterAll, afterEach, describe, test } from 'vitest';

/** A store as a suite uses it: by its port, and closed at the end. */
export interface Closable {
  close(): Promise<void>;
}

/** The settings that the author of a store passes to a suite. */
export interface StoreSuite<Store extends Closable> {
  /** Part of the test titles. */
  readonly name: string;
  /**
   * Opens the store of that place, empty the first time. The same place may be opened while it is
   * open. Opening a place again gives its committed data. A place is a short name of letters,
   * digits and dashes.
   */
  readonly open: (place: string) => Promise<Store>;
  /** Deletes all places, after the last test. */
  readonly remove?: () => Promise<void>;
  /**
   * Tests that the store cannot pass, by name, each with a reason: reported as skipped. A name
   * without a test is an error.
   */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[];
  /**
   * The number of runs of a property, from its usual number (the default). Each run opens its own
   * place: a slow store asks for fewer.
   */
  readonly runs?: (usual: number) => number;
}

/** The functions that laws use. */
export interface Bench<Store> {
  /** One test; skipped if the author declared so. */
  readonly law: (title: string, check: () => Promise<void>) => void;
  readonly newPlace: () => string;
  /** Opens a place; it is closed after the test. */
  readonly openAt: (place: string) => Promise<Store>;
  /** Opens an unused place. */
  readonly openNew: () => Promise<Store>;
  /** The number of runs of a property. */
  readonly runs: (usual: number) => number;
}

/** Runs laws against one store, in their own `describe`. */
export function runSuite<Store extends Closable>(
  port: string,
  { name, open, remove, skip = [], runs = (usual) => usual }: StoreSuite<Store>,
  laws: readonly ((bench: Bench<Store>) => void)[],
): void {
  const skipped = new Map(skip.map(({ test: title, reason }) => [title, reason]));
  const opened: Store[] = [];
  let places = 0;

  const newPlace = (): string => `${port}-${++places}`;
  const openAt = async (place: string): Promise<Store> => {
    const store = await open(place);
    opened.push(store);
    return store;
  };
  const law: Bench<Store>['law'] = (title, check) => {
    const reason = skipped.get(title);
    skipped.delete(title);
    if (reason === undefined) test(title, check);
    else test.skip(`${title} (${reason})`, check);
  };

  describe(`${port} store: ${name}`, () => {
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    afterAll(() => remove?.());
    for (const group of laws)
      group({
        law,
        newPlace,
        openAt,
        openNew: () => openAt(newPlace()),
        runs: (usual) => Math.max(1, Math.ceil(runs(usual))),
      });
    if (skipped.size > 0)
      throw new Error(`the suite has no test named: ${[...skipped.keys()].join('; ')}`);
  });
}
