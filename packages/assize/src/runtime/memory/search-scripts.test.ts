import { expect, test } from 'vitest';
import { objects, onClinics } from '../../../../../tests/support/clinic/clinic-memory.ts';

onClinics((begun) => {
  test.each([
    ['민수는 서울에 산다', '서울'],
    ['Soren', 'Søren'],
    ['user name', 'userName'],
    ['1.2.3', 'v1.2.3'],
    ['ヒラガナ', 'ひらがな'],
    ['らーめん', 'ラーメン'],
    ['user', 'user123'],
    ['10 mg', '10mg'],
    ['10mg', '10 mg'],
    ['iphone', 'iPhone15Pro'],
    ['iPhone 15', 'iPhone15Pro'],
    ['email', 'e-mail'],
    ['e-mail', 'email'],
  ])('a recall for %j finds %j, as every store makes the same words', async (text, object) => {
    const { memory } = await begun();
    await memory.assert({ subject: 'p7', predicate: 'allergy', object });
    await memory.assert({ subject: 'p8', predicate: 'allergy', object: 'nuts' });
    expect(objects((await memory.recall({ text })).facts)).toEqual([object]);
  });
});
