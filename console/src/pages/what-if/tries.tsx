import { SegmentedControl } from '@mantine/core';
import { useChoices } from '../../parts/address-choices.ts';

/** The ways to ask what if, as the address of the page has them. */
export type Tries = 'rules' | 'domain' | 'simulation';

export function triesOf(search: URLSearchParams): Tries {
  const tries = search.get('try');
  return tries === 'domain' || tries === 'simulation' ? tries : 'rules';
}

export function TryControl() {
  const [search, choose] = useChoices();
  return (
    <SegmentedControl
      size="xs"
      mt="sm"
      fullWidth
      aria-label="Try"
      value={triesOf(search)}
      onChange={(value) => choose({ try: value === 'rules' ? undefined : value })}
      data={[
        { value: 'rules', label: 'A rule table' },
        { value: 'domain', label: 'Another version' },
        { value: 'simulation', label: 'A simulation' },
      ]}
    />
  );
}
