import { form, requireForm } from '#base';

/** Longest name of who decides, in UTF-16 units: as long as a writ's subject may be. */
const NAME_MAX = 512;

/**
 * What is not seen: controls, formats (zero-width, directions), halves of characters, private use, whatever Unicode lets a
 * program show as nothing (variation selectors, fillers), and the blank Braille pattern.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/u;
const ALL_UNSEEN = new RegExp(UNSEEN, 'gu');

/**
 * What is wrong with the name of who decides; undefined where all of it is seen and no white space is in it but single spaces
 * inside, so that two names that look the same to the eye are not told apart by what it can't see. Letters that look alike,
 * and capitals, are the host's.
 */
export function faultOfName(name: string): string | undefined {
  requireForm(form.text, name, 'name');
  if (name === '' || name.length > NAME_MAX) return `it has 1 to ${NAME_MAX} characters`;
  // White space among it: a tab is one as well.
  if (!/^\S+(?: \S+)*$/u.test(name)) return 'it has no white space but single spaces inside';
  const unseen = UNSEEN.exec(name)?.[0].codePointAt(0);
  if (unseen === undefined) return undefined;
  return `it has U+${unseen.toString(16).toUpperCase().padStart(4, '0')}, which is not seen`;
}

/**
 * A name to compare: composed, and without what is not seen. A writ's subject may be any text, and so may names in ledgers
 * of before.
 */
export function plainName(name: string): string {
  return name.replace(ALL_UNSEEN, '').replace(/\s+/gu, ' ').trim().normalize('NFC');
}
