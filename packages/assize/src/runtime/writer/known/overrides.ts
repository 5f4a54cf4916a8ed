import { isUpgrade, type Payload, type VectorItem } from '#ledger';

/** Whether an entry overrode an invariant, so that the state may still break it. */
export class Overrides {
  #stand: boolean;

  constructor(stand: boolean = false) {
    this.#stand = stand;
  }

  get stand(): boolean {
    return this.#stand;
  }

  /** Adds the next entry. */
  note(payload: Payload): void {
    // The rules before an upgrade no longer count.
    if (isUpgrade(payload)) this.#stand = false;
    this.#stand ||=
      ('detection_vector' in payload && payload.detection_vector?.some(isBroken)) === true;
  }
}

function isBroken({ result }: VectorItem): boolean {
  return result !== 'pass';
}
