import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useLocation } from 'wouter';
import { PAGES } from './pages.ts';

/** The palette of Ctrl K: goes to any page. */
export function Commands() {
  const [, navigate] = useLocation();
  const actions: SpotlightActionData[] = PAGES.map(({ path, name, about }) => ({
    id: path,
    label: name,
    description: about,
    onClick: () => navigate(path),
  }));
  return (
    <Spotlight
      actions={actions}
      shortcut={['mod + K']}
      lockScroll={false}
      overlayProps={{ backgroundOpacity: 0.4, blur: 0 }}
      attributes={{ content: { 'aria-label': 'Pages' } }}
      nothingFound="Nothing matches."
      searchProps={{ placeholder: 'Go to…', 'aria-label': 'Go to' }}
    />
  );
}
