/** Names of variables that hold secrets, by their usual form. A sandbox does not hand them on. */
export const SECRET_NAMES: RegExp = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|^ASSIZE_/i;
