import { useSearchParams } from 'wouter';

/** Values by the names that the address has for them. An empty or absent one is removed. */
export type Choices = Readonly<Record<string, string | undefined>>;

/**
 * The choices of a page in its address, and how to change some of them. Default: without
 * a step back to the choices before.
 */
export function useChoices({ replace = true } = {}) {
  const [search, setSearch] = useSearchParams();
  const choose = (changed: Choices): void =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changed))
          if (value === undefined || value === '') after.delete(name);
          else after.set(name, value);
        return after;
      },
      { replace },
    );
  return [search, choose] as const;
}
