import { arg } from '#base';

/** No name is longer, so a longer one finds nothing. Normalising one could take very long. */
const NAME_MAX = 512;

/** The form of asserted names: a name of another form finds nothing. */
export const NAME = arg.of(
  "a text in Unicode's composed form (NFC)",
  (value) => typeof value === 'string' && (value.length > NAME_MAX || value === value.normalize('NFC')),
);
