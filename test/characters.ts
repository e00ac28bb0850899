import fc from 'fast-check'

const SURROGATES = 0xd800
const COUNT = 0x800

/**
 * Any character, as the unit of a text. `binary` of fast-check has the same characters, and first
 * makes a table of them all.
 */
export const CHARACTER: fc.Arbitrary<string> = fc.nat(0x10ffff - COUNT).map(
  number => String.fromCodePoint(number < SURROGATES ? number : number + COUNT),
  character => {
    const [one = ''] = String(character)
    if (one === '' || one !== character) throw new Error('This is not one character.')
    const number = one.codePointAt(0) ?? 0
    return number < SURROGATES ? number : number - COUNT
  },
)

const part = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."azAZ09-._~!$&'()*+,;=:@"),
    CHARACTER.map(one => encodeURIComponent(one)),
  ),
})

/** A web address. `webUrl` of fast-check is made of `binary`. */
export const WEB_ADDRESS: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.domain(),
    fc.array(part),
    fc.option(
      part.map(query => `?${query}`),
      { nil: '' },
    ),
    fc.option(
      part.map(fragment => `#${fragment}`),
      { nil: '' },
    ),
  )
  .map(
    ([scheme, host, path, ...rest]) => `${scheme}://${[host, ...path].join('/')}${rest.join('')}`,
  )
