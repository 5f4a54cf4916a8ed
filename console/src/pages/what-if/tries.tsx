import { SegmentedControl } from '@mantine/core';
import { useSearchParams } from 'wouter';

/** The ways to ask what if, as the address of the page has them. */
export type Tries = 'rules' | 'domain' | 'simulation';

export function triesOf(search: URLSearchParams): Tries {
  const tries = search.get('try');
  return tries === 'domain' || tries === 'simulation' ? tries : 'rules';
}

/** Sets a choice in the address, or removes it. */
export function useChoose(): (name: string, value: string | undefined) => void {
  const [, setSearch] = useSearchParams();
  return (name, value) =>
    setSearch(
      (before) => {
        const changed = new URLSearchParams(before);
        if (value === undefined || value === '') changed.delete(name);
        else changed.set(name, value);
        return changed;
      },
      { replace: true },
    );
}

export function TryControl() {
  const [search] = useSearchParams();
  const choose = useChoose();
  return (
    <SegmentedControl
      size="xs"
      mt="sm"
      fullWidth
      aria-label="Try"
      value={triesOf(search)}
      onChange={(value) => choose('try', value === 'rules' ? undefined : value)}
      data={[
        { value: 'rules', label: 'A rule table' },
        { value: 'domain', label: 'Another version' },
        { value: 'simulation', label: 'A simulation' },
      ]}
    />
  );
}
