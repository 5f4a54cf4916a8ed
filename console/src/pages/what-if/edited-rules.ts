import { useState } from 'react';

/**
 * The edited rule table of a trajectory, as text. It stays in this tab of the browser until the tab
 * is closed.
 */
export function useEditedRules(trajectory: string, example: string): readonly [string, (text: string) => void] {
  const key = `assize:what-if:${trajectory}`;
  const [edited, setEdited] = useState(() => sessionStorage.getItem(key));
  const edit = (text: string): void => {
    if (text === example) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
    setEdited(text);
  };
  return [edited ?? example, edit];
}

/** A rule table to begin with: a person must approve one action. */
export function exampleRules(action: string): string {
  const table = {
    id: 'what-if',
    otherwise: 'allow',
    rules: [{ id: 'ask', effect: 'needs_approval', actions: [action], because: 'A person must see this.' }],
  };
  return JSON.stringify(table, null, 2);
}
