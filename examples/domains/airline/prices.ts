/** The prices of extras, in dollars (policy.md, Book flight). */
export const BAG_PRICE = 50;
export const INSURANCE_PRICE = 30;
