const PLACE = 'assize-single-keys';

/** Whether letters without a modifier act in lists and details. The person can switch them off. */
export function hasSingleKeys(): boolean {
  return localStorage.getItem(PLACE) !== 'off';
}

export function setSingleKeys(areOn: boolean): void {
  if (areOn) localStorage.removeItem(PLACE);
  else localStorage.setItem(PLACE, 'off');
}
