const ones = [
  ...[
    'zero',
    'one',
    'two',
    'three',
    'four',
    'five',
    'six',
    'seven',
    'eight',
    'nine',
    'ten',
    'eleven',
    'twelve',
  ],
  ...['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
]
const tens = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']

/** A whole number below a million as it is read aloud; 1100 to 1999 as years and prices are ("nineteen eighty five"). */
export const numberWords = (value: number): string => {
  if (value < 20) return ones[value]!
  if (value < 100) return join(tens[Math.floor(value / 10)]!, value % 10)
  if (value < 1000) return join(`${ones[Math.floor(value / 100)]} hundred`, value % 100)
  if (value >= 1100 && value < 2000) {
    const century = numberWords(Math.floor(value / 100))
    return value % 100 === 0 ? `${century} hundred` : `${century} ${numberWords(value % 100)}`
  }
  return join(`${numberWords(Math.floor(value / 1000))} thousand`, value % 1000)
}

const join = (head: string, rest: number): string => (rest === 0 ? head : `${head} ${numberWords(rest)}`)
