import { Spotlight } from '@mantine/spotlight';
import { useState } from 'react';
import { useDestinations } from './destinations.ts';

/** The most choices that are listed. Typing finds the others. */
const LISTED_MAX = 30;

/** The palette of Ctrl K: goes to a page, a waiting proposal, a trajectory or an entry. */
export function Commands() {
  const [query, setQuery] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const groups = useDestinations(query.trim(), isOpen);
  return (
    <Spotlight
      actions={groups}
      query={query}
      onQueryChange={setQuery}
      onSpotlightOpen={() => setIsOpen(true)}
      onSpotlightClose={() => setIsOpen(false)}
      shortcut={['mod + K']}
      limit={LISTED_MAX}
      scrollable
      maxHeight={420}
      lockScroll={false}
      overlayProps={{ backgroundOpacity: 0.4, blur: 0 }}
      attributes={{ content: { 'aria-label': 'Go to' } }}
      nothingFound="Nothing matches. An entry is found by its id, or as WORLD@SEQ."
      searchProps={{
        placeholder: 'A page, a proposal, a world or an entry',
        'aria-label': 'Go to',
      }}
    />
  );
}
